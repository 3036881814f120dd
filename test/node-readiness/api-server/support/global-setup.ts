import { buildPrograms } from "../../../cluster/support/build";

/** Builds Kubernetes, unless it is there. */
export default async function globalSetup(): Promise<void> {
  await buildPrograms();
}
