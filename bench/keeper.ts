/** Keeps what is started. Its disposal disposes of all of that, the last first. */
export interface Keeper extends AsyncDisposable {
  readonly keep: <One extends AsyncDisposable>(one: One) => One;
}

export function createKeeper(): Keeper {
  const kept: AsyncDisposable[] = [];
  return {
    keep: (one) => {
      kept.unshift(one);
      return one;
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of kept.splice(0)) await one[Symbol.asyncDispose]();
    },
  };
}
