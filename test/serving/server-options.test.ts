import { readFileSync } from "node:fs";
import { GRPC_SERVER_OPTIONS, resolveServingOptions } from "../../src/serving/options";

const NAMES = Object.keys(GRPC_SERVER_OPTIONS);
const serverOptions = (name: string, value: unknown) =>
  resolveServingOptions({ csiAddress: "/x.sock", addServices: () => {}, serverOptions: { [name]: value } })
    .serverOptions;

test("serverOptions checks all that grpc-js' server reads", () => {
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

test("serverOptions takes every name of grpc-js' options, and no other", () => {
  const types = readFileSync(require.resolve("@grpc/grpc-js/build/src/channel-options.d.ts"), "utf8");
  const [declared = ""] = types.split("recognizedOptions");
  const names = declared.match(/(?<=')grpc(?:-node)?\.[\w.]+(?=')/g) ?? [];
  const ofClients = names.filter((name) => !NAMES.includes(name));
  expect(ofClients).toContain("grpc.keepalive_permit_without_calls");
  for (const name of ofClients) expect(serverOptions(name, 1)).toEqual({});
  expect(() => serverOptions("grpc.max_metadata_size", 1)).toThrow("there is no option");
});
