package shop

data class Item(val id: String)
interface Store { fun get(id: String): Item? }
object Registry {
    private val items = mutableListOf<Item>()
    suspend fun <T> load(id: T): Item = TODO()
}
fun String.shout() = uppercase()
