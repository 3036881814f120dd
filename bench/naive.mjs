// The registrar that one writes with grpc-js in an hour, to compare with: the .proto text is loaded at start, the
// driver asked once, the server bound by bindAsync, and kubelet's notice ends the process where it is a refusal.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import grpc from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const PROTO = `
syntax = "proto3";
package pluginregistration;
service Registration {
  rpc GetInfo(InfoRequest) returns (PluginInfo);
  rpc NotifyRegistrationStatus(RegistrationStatus) returns (RegistrationStatusResponse);
}
message InfoRequest {}
message PluginInfo { string type = 1; string name = 2; string endpoint = 3; repeated string supported_versions = 4; }
message RegistrationStatus { bool plugin_registered = 1; string error = 2; }
message RegistrationStatusResponse {}`;

const CSI = `
syntax = "proto3";
package csi.v1;
service Identity { rpc GetPluginInfo(GetPluginInfoRequest) returns (GetPluginInfoResponse); }
message GetPluginInfoRequest {}
message GetPluginInfoResponse { string name = 1; string vendor_version = 2; map<string, string> manifest = 3; }`;

const option = { type: "string" };
const { values } = parseArgs({
  options: {
    "csi-address": option,
    "kubelet-registration-path": option,
    "plugin-registration-path": option,
  },
  strict: false,
});

function load(text) {
  const folder = mkdtempSync(join(tmpdir(), "naive-"));
  writeFileSync(join(folder, "x.proto"), text);
  const definition = loadSync(join(folder, "x.proto"), { defaults: true });
  rmSync(folder, { recursive: true });
  return grpc.loadPackageDefinition(definition);
}

const { Identity } = load(CSI).csi.v1;
const { Registration } = load(PROTO).pluginregistration;

const driver = new Identity(`unix:${values["csi-address"]}`, grpc.credentials.createInsecure());
const patiently = new grpc.Metadata({ waitForReady: true });
driver.getPluginInfo({}, patiently, (error, { name } = {}) => {
  if (error) throw error;
  const info = { type: "CSIPlugin", name, endpoint: values["kubelet-registration-path"] };
  const server = new grpc.Server();
  server.addService(Registration.service, {
    getInfo: (_call, answer) => answer(null, { ...info, supportedVersions: ["1.0.0"] }),
    notifyRegistrationStatus: ({ request }, answer) => {
      answer(null, {});
      if (!request.pluginRegistered) process.exit(1);
    },
  });
  const socket = join(values["plugin-registration-path"], `${name}-reg.sock`);
  server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (problem) => {
    if (problem) throw problem;
  });
});
