import { status } from "@grpc/grpc-js";
import type { PluginInfo } from "../../../../src/grpc/protos";
import type { CsiDriverOptions } from "../../../../src/testing";
import type { DevicePluginAnswers } from "../../../simulator/fake-device-plugin";
import type { Scenario, ScriptedNode, Scripts } from "../scripted-node";

/** What one plugin says, and who listens at its endpoint. */
interface Variant {
  readonly info?: Partial<PluginInfo>;
  readonly rawInfo?: Buffer;
  readonly driver?: Partial<CsiDriverOptions>;
  readonly devices?: DevicePluginAnswers | undefined;
  readonly applies?: Scenario["applies"];
}

const named = (name: string): Variant => ({ info: { name }, driver: { nodeId: "n1" } });
const nodeId = (nodeId: string): Variant => ({ driver: { nodeId } });
const topology = (key: string, value = "z1"): Variant => ({ driver: { topology: { [key]: value } } });
const limit = (maxVolumes: number): Variant => ({ driver: { maxVolumes } });
const versions = (...supportedVersions: string[]): Variant => ({ info: { supportedVersions } });
const ofType = (type: string, ...supportedVersions: string[]): Variant => ({
  info: { type, ...(supportedVersions.length > 0 && { supportedVersions }) },
});
const devices = (name: string, answers: DevicePluginAnswers = {}, version = "v1beta1"): Variant => ({
  info: { type: "DevicePlugin", name, supportedVersions: [version] },
  devices: answers,
});
/** GetInfo's answer with these bytes in place of one text. */
const withBytes = (field: number, ...bytes: readonly number[]): Variant => {
  const texts = ["", "CSIPlugin", "x.csi", "/nowhere", "1.0.0"].map((text) => Buffer.from(text));
  texts[field] = Buffer.from(bytes);
  const fields = texts.flatMap((text, number) =>
    number === 0 ? [] : [Buffer.from([number * 8 + 2, text.length]), text],
  );
  // Others hand on these bytes, which no text of JavaScript can hold.
  return { rawInfo: Buffer.concat(fields), applies: ({ checksUtf8 }) => checksUtf8 };
};

/** Each is a scenario of its own: kubelet decides about it once. */
const VARIANTS: Readonly<Record<string, Variant>> = {
  "a name in capitals": named("X.CSI"),
  "a name with an underscore": named("x_csi"),
  "a name with a space": named("x csi"),
  "a name with a slash": named("x.csi/y"),
  "a name that begins with a dash": named("-x.csi"),
  "a name that ends with a dot": named("x.csi."),
  "a name with two dots": named("x..csi"),
  "a name of one letter": named("x"),
  "a name with a letter of another alphabet": named("żyd.csi"),
  "a name with a quotation mark and a line's end": named('x"\n.csi'),
  "a name of 63 bytes": named("n".repeat(63)),
  "a name of 64 bytes": named("n".repeat(64)),
  "a name of 64 bytes with an underscore": named(`${"n".repeat(62)}_n`),
  "a name of 300 bytes": named("n".repeat(300)),

  "a node ID of one space": nodeId(" "),
  "a node ID with a quotation mark and a line's end": nodeId('a "node"\n'),
  "a node ID of another alphabet": nodeId("węzeł"),
  "a node ID with characters of HTML": nodeId("<a&b>"),
  "a node ID of 128 bytes": nodeId("i".repeat(128)),
  "a node ID of 129 bytes": nodeId("i".repeat(129)),
  "a node ID of 192 bytes": nodeId("i".repeat(192)),
  "a node ID of 193 bytes": nodeId("i".repeat(193)),
  "a node ID of 256 bytes": nodeId("i".repeat(256)),
  "a node ID of 257 bytes": nodeId("i".repeat(257)),
  "a node ID of 130 characters and 260 bytes": nodeId("ę".repeat(130)),

  "a topology with a prefix": topology("topology.x.csi/zone"),
  "a topology without a value": topology("zone", ""),
  "a topology whose value has a space": topology("zone", "z 1"),
  "a topology whose value begins with a dash": topology("zone", "-z1"),
  "a topology whose value has 63 bytes": topology("zone", "z".repeat(63)),
  "a topology whose value has 64 bytes": topology("zone", "z".repeat(64)),
  "a topology whose value is a path": topology("zone", "a/b"),
  "a topology whose key is empty": topology(""),
  "a topology whose key has a space": topology("the zone"),
  "a topology whose key has 63 bytes": topology("k".repeat(63)),
  "a topology whose key has 64 bytes": topology("k".repeat(64)),
  "a topology whose key has two slashes": topology("a/b/c"),
  "a topology whose key has an empty prefix": topology("/zone"),
  "a topology whose key has nothing behind its prefix": topology("x.csi/"),
  "a topology whose prefix has capitals": topology("X.CSI/zone"),
  "a topology whose prefix has 253 bytes": topology(`${"p".repeat(253)}/zone`),
  "a topology whose prefix has 254 bytes": topology(`${"p".repeat(254)}/zone`),

  "a limit of one volume": limit(1),
  "a limit of all that 32 bits hold": limit(2 ** 31 - 1),
  "a limit beyond 32 bits": limit(2 ** 40),
  "a limit far below zero": limit(-(2 ** 40)),

  "a version with a patch and a build": versions("1.2.3-alpha.1+build"),
  "a version in words before a good one": versions("one", "1.0"),
  "versions with spaces": versions(" 1.0 ", "1.0"),
  "an empty version": versions("1.0.0", ""),

  "a type in other letters": ofType("csiplugin"),
  "an empty type": ofType(""),
  "a DRA driver": ofType("DRAPlugin", "v1.DRAPlugin"),
  "a DRA driver of the beta service": ofType("DRAPlugin", "v1beta1.DRAPlugin"),
  "a DRA driver of an old service": ofType("DRAPlugin", "v1alpha4.Node"),
  "a DRA driver with a version of CSI": ofType("DRAPlugin", "1.0.0"),
  "a DRA driver with a bad name": { info: { ...ofType("DRAPlugin", "v1.DRAPlugin").info, name: "a_b" } },

  "a device plugin": devices("x.csi/disk"),
  "a device plugin that stops listing at once": devices("x.csi/disk", { endsAtOnce: true }),
  "a device plugin that has no options": devices("x.csi/disk", { code: status.INTERNAL }),
  "a device plugin of another version": devices("x.csi/disk", {}, "v1"),
  "a device plugin whose resource has no prefix": devices("disk"),
  "a device plugin whose resource is Kubernetes' own": devices("kubernetes.io/disk"),
  "a device plugin that serves a CSI driver": { ...devices("x.csi/disk"), devices: undefined, driver: {} },

  "a type that is not UTF-8": withBytes(1, 0xff),
  "a name that is not UTF-8": withBytes(2, 0x78, 0xc3),
  "an endpoint that is not UTF-8": withBytes(3, 0x2f, 0x80),
  "a version that is not UTF-8": withBytes(4, 0x31, 0x2e, 0xfe),
  "an answer that is not protobuf": { rawInfo: Buffer.from([0xff]) },
  "an empty answer": { rawInfo: Buffer.alloc(0) },
};

export const variants: Scripts = Object.fromEntries(
  Object.entries(VARIANTS).map(([what, variant]) => [
    `decides about ${what}`,
    {
      script: (node: ScriptedNode) => playVariant(node, variant),
      ...(variant.applies && { applies: variant.applies }),
    },
  ]),
);

async function playVariant(node: ScriptedNode, { info, rawInfo, driver, devices }: Variant): Promise<void> {
  if (devices !== undefined) await node.devicePlugin("x.csi", devices);
  else await node.driver({ nodeId: "node of x.csi", ...driver, name: "x.csi" });
  const registrar = await node.registrar({
    info: { endpoint: node.elsewhere("x.csi"), ...info },
    ...(rawInfo && { rawInfo }),
  });
  if (!(await registrar.decided())) return;
  await registrar.close();
  await node.settled();
}
