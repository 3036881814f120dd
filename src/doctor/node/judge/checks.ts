import type { Check } from "../../findings/finding";
import type { Facts } from "../read/facts";
import { directoryKubelets, directoryWritable, registrationDirectory, socketPath } from "./directory";
import { driverHealth, driverIdentity, driverName, driverNodeInfo, driverReady } from "./driver";
import { driverSocket, kubeletPath } from "./driver-socket";
import { driversFound, registrars } from "./drivers-found";
import { commandLine, inotify, kubelet, selinux } from "./machine";
import { nodeReadiness } from "./node-readiness";
import { otherRegistrations, registration } from "./registration";
import { registrationDuplicates, registrationEndpoint, registrationVersions } from "./registration-info";
import { waitingPods } from "./waiting-pods";

/** Every question to a node. A cause comes before what follows from it: the driver, the directory, the registration. */
export const NODE_CHECKS: readonly Check<Facts>[] = [
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
  driverHealth,
  waitingPods,
  registrars,
];
