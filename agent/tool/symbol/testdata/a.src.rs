use std::fmt;
pub const LIMIT: usize = 3;
pub(crate) struct Basket<T> {
    items: Vec<T>,
}
pub enum Colour { Red }
pub trait Store {
    fn get(&self, id: &str) -> Option<u32>;
}
impl<T: Clone> Store for Basket<T> {
    fn get(&self, id: &str) -> Option<u32> {
        None
    }
}
pub async fn main() {}
macro_rules! shout { () => {} }
mod tests {
    #[test]
    fn adds() {}
}
