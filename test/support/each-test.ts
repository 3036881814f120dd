/** One of these for each test, made before it and disposed of after it. */
export function eachTest<Made extends AsyncDisposable>(make: () => Promise<Made>): Made {
  const made = {} as Made;
  beforeEach(async () => void Object.assign(made, await make()));
  afterEach(() => made[Symbol.asyncDispose]());
  return made;
}

/** One of these for all tests of a file. */
export function allTests<Made extends AsyncDisposable>(make: () => Promise<Made>): Made {
  const made = {} as Made;
  beforeAll(async () => void Object.assign(made, await make()));
  afterAll(() => made[Symbol.asyncDispose]());
  return made;
}
