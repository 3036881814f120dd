// Original file: proto/pluginregistration.proto


export interface PluginInfoInput {
  /**
   * "CSIPlugin" for a CSI driver; kubelet also knows "DevicePlugin" and "DRAPlugin".
   */
  'type'?: (string);
  'name'?: (string);
  /**
   * Where kubelet reaches the plugin; empty means the registration socket itself.
   */
  'endpoint'?: (string);
  'supportedVersions'?: (string)[];
}

export interface PluginInfo {
  /**
   * "CSIPlugin" for a CSI driver; kubelet also knows "DevicePlugin" and "DRAPlugin".
   */
  'type': (string);
  'name': (string);
  /**
   * Where kubelet reaches the plugin; empty means the registration socket itself.
   */
  'endpoint': (string);
  'supportedVersions': (string)[];
}
