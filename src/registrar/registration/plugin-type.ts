/** What kubelet registers: `k8s.io/kubelet/pkg/apis/pluginregistration/v1/constants.go`. */
export type PluginType = "CSIPlugin" | "DRAPlugin" | "DevicePlugin";

export const PLUGIN_TYPES: readonly PluginType[] = ["CSIPlugin", "DRAPlugin", "DevicePlugin"];

/** Versions of the CSI specification's major line that we stand for, as the official registrar has since 2018. */
export const CSI_VERSIONS: readonly string[] = ["1.0.0"];

/** Between a plugin's name and `-reg.sock`: a CSI and a DRA driver of one name may be on one node. */
const FILE_TAILS: Readonly<Record<PluginType, string>> = {
  CSIPlugin: "",
  DRAPlugin: "-dra",
  DevicePlugin: "-device",
};

/** What stands for a plugin in the name of its registration socket. A resource's slash cannot. */
export function fileNameOf(type: PluginType, name: string): string {
  return `${name.replace("/", "_")}${FILE_TAILS[type]}`;
}
