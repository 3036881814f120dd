// The largest parts of packages that load at their start and that the CLI never calls, as the least that lets them load.
// Every sidecar reads, compiles and keeps each byte. test/bundle.test.ts compares this with what is in the bundle;
// test/end-to-end/, which runs it, shows that nothing is missing.
import { dirname, join, resolve } from "node:path";

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
  // HTTP proxies: a unix socket has none. With them goes name resolution by DNS.
  "@grpc/grpc-js/build/src/http_proxy": `
    exports.mapProxyName = (target) => ({ target, extraOptions: {} });
    exports.getProxiedConnection = () => Promise.resolve(null);`,
  // A pool that looks every 10 s for connections that nobody uses. Each of our clients has credentials, and so a connection, of its
  // own, and is closed.
  "@grpc/grpc-js/build/src/subchannel-pool": `
    const { Http2SubchannelConnector } = require("@grpc/grpc-js/build/src/transport");
    const { Subchannel } = require("@grpc/grpc-js/build/src/subchannel");
    const made = new Map();
    const pool = {
      getOrCreateSubchannel: (target, address, options, credentials) => {
        const former = made.get(credentials);
        if (former) return former;
        const subchannel = new Subchannel(target, address, options, credentials, new Http2SubchannelConnector(target));
        subchannel.ref();
        made.set(credentials, subchannel);
        return subchannel;
      },
      unrefUnusedSubchannels: () => {
        for (const [credentials, subchannel] of made) if (subchannel.unrefIfOneRef()) made.delete(credentials);
      },
    };
    exports.getSubchannelPool = () => pool;`,
  // What a server measures of its own load for clients that balance between servers: ours never turns it on.
  "@grpc/grpc-js/build/src/orca": `
    exports.PerRequestMetricRecorder = class {};
    exports.GRPC_METRICS_HEADER = "endpoint-load-metrics-bin";`,
  // The descriptors of all messages for gRPC reflection, which proto-loader makes whether they are served or not.
  "protobufjs/ext/descriptor": `
    const { Enum, Root, Type } = require("protobufjs");
    const descriptor = { file: [], $type: { toObject: () => ({}) } };
    for (const { prototype } of [Enum, Root, Type]) prototype.toDescriptor = () => descriptor;`,
  // Loads 14 modules of Node's; only a compressed message needs them.
  zlib: `module.exports = new Proxy({}, { get: (_, name) => require("node:zlib")[name] });`,
};

export const leaveOut = {
  name: "leave-out",
  setup(build) {
    build.onResolve({ filter: /./ }, ({ path, importer, kind }) => {
      if (kind === "entry-point") return undefined;
      const whole = path.startsWith(".") ? resolve(dirname(importer), path) : `/node_modules/${path}`;
      const name = whole.split("/node_modules/").at(-1).replace(/\.js$/, "");
      if (!Object.hasOwn(LEFT_OUT, name)) return undefined;
      const { file } = LEFT_OUT[name];
      return file ? { path: join(process.cwd(), file) } : { path: name, namespace: "left-out" };
    });
    build.onLoad({ filter: /./, namespace: "left-out" }, ({ path }) => ({
      contents: LEFT_OUT[path],
      resolveDir: ".",
    }));
  },
};
