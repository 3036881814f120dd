/** Made for the test that runs, and not disposed of yet. */
const made: AsyncDisposable[] = [];

/** What `create` makes, anew for each test of the file or block. Disposed of after it, the last one made first. */
export function eachTest<Made extends AsyncDisposable>(create: () => Promise<Made>): Made {
  let current: Made;
  beforeEach(async () => {
    current = await create();
    made.push(current);
  });
  afterEach(() => made.pop()?.[Symbol.asyncDispose]());
  return new Proxy({} as Made, { get: (_, key) => Reflect.get(current, key) });
}
