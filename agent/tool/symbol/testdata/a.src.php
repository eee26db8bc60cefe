<?php
namespace Shop\Cart;

interface Store { public function get(string $id): ?Item; }

final class Basket implements Store
{
    private const LIMIT = 3;
    public function __construct(private array $items) {}
    public static function load(string $path): static
    {
        if ($path) { return new static([]); }
    }
}
function helper(int $n): int { return $n; }
