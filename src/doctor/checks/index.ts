import type { Check } from "../finding";
import { commandLine } from "./command-line";
import { directoryKubelets } from "./directory-kubelets";
import { directoryWritable } from "./directory-writable";
import { driverIdentity } from "./driver-identity";
import { driverName } from "./driver-name";
import { driverNodeInfo } from "./driver-node-info";
import { driverReady } from "./driver-ready";
import { driverSocket } from "./driver-socket";
import { driversFound } from "./drivers-found";
import { inotify } from "./inotify";
import { kubelet } from "./kubelet";
import { kubeletPath } from "./kubelet-path";
import { nodeReadiness } from "./node-readiness";
import { otherRegistrations } from "./other-registrations";
import { registration } from "./registration";
import { registrationDirectory } from "./registration-directory";
import { registrationDuplicates } from "./registration-duplicates";
import { registrationEndpoint } from "./registration-endpoint";
import { registrationVersions } from "./registration-versions";
import { selinux } from "./selinux";
import { socketPath } from "./socket-path";

/** Every question to a node, in the order in which one thing needs the other: the driver, the way, the registration. */
export const NODE_CHECKS: readonly Check[] = [
  commandLine,
  driverSocket,
  driverIdentity,
  driverName,
  driverReady,
  driverNodeInfo,
  kubeletPath,
  registrationDirectory,
  directoryWritable,
  directoryKubelets,
  socketPath,
  kubelet,
  inotify,
  selinux,
  registration,
  registrationEndpoint,
  registrationVersions,
  registrationDuplicates,
  otherRegistrations,
  driversFound,
  nodeReadiness,
];
