/** Owns what it is given, and disposes of it, the last first, at its own disposal. Node 20 has no AsyncDisposableStack. */
export interface Keeper extends AsyncDisposable {
  readonly keep: <T extends AsyncDisposable>(owned: T) => T;
}

export function createKeeper(): Keeper {
  const owned: AsyncDisposable[] = [];
  return {
    keep: (one) => {
      owned.push(one);
      return one;
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of owned.splice(0).reverse()) await one[Symbol.asyncDispose]();
    },
  };
}
