import { x } from "y";
// function commented() {}
export const LIMIT = 3;
export default async function main(argv: string[]): Promise<void> {
  if (x) {
    return;
  }
}
export const add = (a: number, b: number) => {
  return a + b;
};
export interface Store<T> {
  get(id: string): T;
}
export type Id<T = string> = T | number;
export enum Colour { Red }
export abstract class Basket<T> extends Base implements Store<T> {
  private items: T[] = [];
  constructor(private readonly store: Store<T>) {
    super();
  }
  public async add(item: T): Promise<void> {
    for (const i of this.items) {
      await this.check(i);
    }
  }
  get size(): number {
    return 1;
  }
}
module.exports.extra = 1;
