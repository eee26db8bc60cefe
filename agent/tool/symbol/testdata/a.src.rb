module Shop
  LIMIT = 3
  class Basket < Base
    attr_reader :items
    def initialize(items = [])
      @items = items
    end

    def empty?
      @items.empty?
    end

    def self.load(path) = new(path)
  end
end
