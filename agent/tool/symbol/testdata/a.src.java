package shop;

public final class Basket<T> extends Base implements Store<T> {
    private static final int LIMIT = 3;

    public Basket(List<T> items) {
        this.items = items;
    }

    @Override
    public synchronized Map<String, T> add(T item, int n) throws IOException {
        if (items.isEmpty()) {
            throw new IllegalStateException();
        }
        return null;
    }

    interface Visitor { void visit(Item i); }
    enum Colour { RED }
    record Point(int x, int y) {}
}
