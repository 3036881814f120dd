/** What kubelet registers: `k8s.io/kubelet/pkg/apis/pluginregistration/v1/constants.go`. */
export type PluginType = "CSIPlugin" | "DRAPlugin" | "DevicePlugin";

export const PLUGIN_TYPES: readonly PluginType[] = ["CSIPlugin", "DRAPlugin", "DevicePlugin"];

/** Versions of the CSI specification's major line that we stand for, as the official registrar has since 2018. */
export const CSI_VERSIONS: readonly string[] = ["1.0.0"];
