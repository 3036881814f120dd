/** One of these for each test, made before it and disposed of after it. Its fields are those of the present one. */
export function eachTest<Made extends AsyncDisposable>(make: () => Promise<Made>): Made {
  return late(make, beforeEach, afterEach);
}

/** One of these for all tests of a file. */
export function allTests<Made extends AsyncDisposable>(make: () => Promise<Made>): Made {
  return late(make, beforeAll, afterAll);
}

function late<Made extends AsyncDisposable>(
  make: () => Promise<Made>,
  before: typeof beforeEach,
  after: typeof afterEach,
): Made {
  let made: Made | undefined;
  before(async () => {
    made = await make();
  });
  after(() => made?.[Symbol.asyncDispose]());
  return new Proxy({} as Made, {
    get: (_, name) => Reflect.get(made as Made, name),
    set: (_, name, value) => Reflect.set(made as Made, name, value),
    has: (_, name) => Reflect.has(made as Made, name),
    ownKeys: () => Reflect.ownKeys(made as Made),
    getOwnPropertyDescriptor: (_, name) => {
      const found = Reflect.getOwnPropertyDescriptor(made as Made, name);
      return found && { ...found, configurable: true };
    },
  });
}
