// What packages load at their start and the CLI never calls, as the least that lets them load: half of grpc-js, and of
// protobufjs all that reads .proto text and makes descriptors. Each byte of them is read, compiled and kept in memory by
// every sidecar. test/bundle.test.ts holds this to what is in the bundle; that nothing is missed test/end-to-end/ shows, which runs it.
import { dirname, join, resolve } from "node:path";

/** Says which module it was, should it be called after all. */
const never = (name) => `() => { throw new Error("${name} is left out of the command line"); }`;
const lazily = (name) => `module.exports = new Proxy({}, { get: (_, key) => require("node:${name}")[key] });`;

/** By the path under node_modules, without `.js`: a file that stands for the module, or its text. */
export const LEFT_OUT = {
  // Its index sets up name resolution by DNS and balancing between servers. Ours has the parts that src/ imports.
  "@grpc/grpc-js": { file: "scripts/grpc-js.mjs" },
  // Each client turns channelz off, and then calls only these.
  "@grpc/grpc-js/build/src/channelz": `
    class Nothing { addTrace() {} refChild() {} unrefChild() {} addCallStarted() {} addCallSucceeded() {} addCallFailed() {} }
    for (const name of ["Trace", "CallTracker", "ChildrenTracker"])
      exports["Channelz" + name] = exports["Channelz" + name + "Stub"] = Nothing;
    for (const kind of ["Channel", "Subchannel", "Server", "Socket"])
      exports["registerChannelz" + kind] = () => ({ kind, id: 0, name: "" });
    exports.unregisterChannelzRef = () => {};`,
  // A unix socket has no proxy.
  "@grpc/grpc-js/build/src/http_proxy": `
    exports.mapProxyName = (target) => ({ target, extraOptions: {} });
    exports.getProxiedConnection = async () => null;`,
  // For health checks of one server among several.
  "@grpc/grpc-js/build/src/single-subchannel-channel": `
    exports.SingleSubchannelChannel = ${never("grpc-js' single-subchannel-channel")};`,
  // Loaded at the first compressed message.
  "zlib@@grpc/grpc-js": lazily("zlib"),
  // The parser of .proto text: the contracts are JSON.
  protobufjs: { file: "node_modules/protobufjs/light.js" },
  "protobufjs/src/verifier": "module.exports = () => () => () => null;",
  // The descriptors of all messages for gRPC reflection, which proto-loader makes whether they are served or not.
  "protobufjs/ext/descriptor": `
    const { Enum, Root, Type } = require("protobufjs");
    const descriptor = { file: [], $type: { toObject: () => ({}) } };
    for (const { prototype } of [Enum, Root, Type]) prototype.toDescriptor = () => descriptor;`,
  // What it reads files with, and Google's own messages.
  "@grpc/proto-loader/build/src/util": "exports.addCommonProtos = () => {};",
  // 64-bit numbers beyond 2^53: only the most volumes of a node is one, and it is made a number.
  long: "",
  // For handlers under another name than their method's, which ours are not.
  "lodash.camelcase": "module.exports = (name) => name;",
  // pino's own destinations: it is given ours.
  "sonic-boom": "module.exports = class {};",
  "thread-stream": "module.exports = class {};",
  // prom-client's default metrics: it is given ours.
  "@opentelemetry/api": "module.exports = {};",
};

/** Which row an import is for, if any. */
function rowOf(path, importer) {
  const whole = path.startsWith(".") ? resolve(dirname(importer), path) : `/node_modules/${path}`;
  const name = whole.split("/node_modules/").at(-1).replace(/\.js$/, "");
  return [name, `${name}@@grpc/grpc-js`].find(
    (key, isOfGrpc) => key in LEFT_OUT && (!isOfGrpc || importer.includes("/@grpc/grpc-js/")),
  );
}

export const leaveOut = {
  name: "leave-out",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path, importer, kind }) => {
      if (kind === "entry-point") return undefined;
      const row = rowOf(path, importer);
      if (row === undefined) return undefined;
      const { file } = LEFT_OUT[row];
      return file ? { path: join(process.cwd(), file) } : { path: row, namespace: "left-out" };
    });
    build.onLoad({ filter: /./, namespace: "left-out" }, ({ path }) => ({
      contents: LEFT_OUT[path],
      resolveDir: ".",
    }));
  },
};
