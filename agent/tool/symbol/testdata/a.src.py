"""Shop."""
import os

LIMIT = 3
VERBOSE: bool = False
name = "x"

class Basket(Base, metaclass=Meta):
    """def not_this(): pass"""
    SIZE = 4

    def __init__(self, items: list[int] = None) -> None:
        self.items = items

    async def add(self, item):
        def inner():
            return 1
        return inner

@decorated
def main(argv):
    if True:
        pass
