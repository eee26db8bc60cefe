namespace Shop;

public sealed class Basket<T> : Base, IStore<T>
{
    private readonly List<T> items;
    public Basket(List<T> items) { this.items = items; }
    public async Task<int> AddAsync(T item, CancellationToken token = default)
    {
        if (items.Count > 3) return 1;
        return await Inner(item);
    }
    public int Size => items.Count;
    internal enum Colour { Red }
}
public record Point(int X, int Y);
