import type { DriverFacts, Facts } from "./facts";
import { nameTold } from "./whose";

/** Whether a driver has a registration socket on which somebody answers: under its name, or with its socket as endpoint. */
export function isRegistered(driver: DriverFacts, { registrations }: Facts): boolean {
  const name = nameTold(driver);
  const inode = "inode" in driver.socket ? driver.socket.inode : undefined;
  return registrations.some(({ info, endpoint }) => {
    if (info.kind !== "answered") return false;
    const there = endpoint?.socket;
    // Where its socket is seen, the endpoint says which of two drivers with one name it is.
    if (there !== undefined && "inode" in there) return there.inode === inode;
    return info.value.name === name;
  });
}
