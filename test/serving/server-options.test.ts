import { readFileSync } from "node:fs";
import { GRPC_SERVER_OPTIONS, resolveServingOptions } from "../../src/serving/options";

const NAMES = Object.keys(GRPC_SERVER_OPTIONS);
const serverOptions = (name: string, value: unknown) =>
  resolveServingOptions({ csiAddress: "/x.sock", addServices: () => {}, serverOptions: { [name]: value } })
    .serverOptions;

test("serverOptions takes what grpc-js' server reads, and nothing that it ignores", () => {
  const read = ["server", "server-interceptors"].map((name) =>
    readFileSync(require.resolve(`@grpc/grpc-js/build/src/${name}.js`), "utf8"),
  );
  const names = read.join("").match(/(?<=['"])grpc(?:-node)?\.\w+(?=['"])/g);
  expect([...new Set(names)].sort()).toEqual([...NAMES].sort());
});

const WRONG = ["100", "4MB", -2, 1.5, Number.NaN, Number.POSITIVE_INFINITY, true, null, {}];
test.each(NAMES)("serverOptions refuses a value that %s does not take", (name) => {
  const hasNoLimit = name.endsWith("message_length");
  const takes = hasNoLimit ? "a whole number of bytes, or -1 for no limit" : "a whole number, ";
  const refusal = { code: "INVALID_OPTION", message: expect.stringContaining(`it takes ${takes}`) };
  for (const value of [...WRONG, ...(hasNoLimit ? [] : [-1])]) {
    expect(() => serverOptions(name, value)).toThrow(expect.objectContaining(refusal));
    expect(() => serverOptions(name, value)).toThrow(`serverOptions: ${name} is `);
  }
  for (const value of [1, ...(hasNoLimit ? [-1] : [])])
    expect(serverOptions(name, value)).toEqual({ [name]: value });
});
