// Original file: proto/csi.proto


export interface GetPluginInfoResponseInput {
  'name'?: (string);
  'vendorVersion'?: (string);
  'manifest'?: ({[key: string]: string});
}

export interface GetPluginInfoResponse {
  'name': (string);
  'vendorVersion': (string);
  'manifest': ({[key: string]: string});
}
