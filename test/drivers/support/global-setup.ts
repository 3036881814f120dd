import { DRIVER_SERVERS } from "./servers";

/** Jest's global setup: builds every driver, all at the same time, as half of it is waiting for package registries. */
export default async function globalSetup(): Promise<void> {
  const languages = DRIVER_SERVERS.map(({ language }) => language).join(", ");
  process.stderr.write(`building drivers in ${languages}: most of a minute the first time\n`);
  await Promise.all(DRIVER_SERVERS.map(({ prepare }) => prepare()));
}
