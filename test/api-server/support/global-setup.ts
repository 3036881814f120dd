import { buildPrograms } from "../../cluster/support/build";

export default async function globalSetup(): Promise<void> {
  await buildPrograms();
}
