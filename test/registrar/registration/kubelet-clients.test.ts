import { Socket } from "node:net";
import { createKubeletClients } from "../../../src/registrar/registration/kubelet-clients";

const clientWith = (authority: string) => ({ socket: new Socket(), authority: () => authority });

test("once kubelet is known, no client is waited for that called before and is another", () => {
  const clients = createKubeletClients();
  const [kubelet, other] = [clientWith("%2Fk%2Fx-reg.sock"), clientWith("localhost")];
  for (const client of [other, kubelet]) clients.asked(client);
  expect(clients.isAsking).toBe(true);
  clients.reported(kubelet);
  expect(clients.isAsking).toBe(false);
  clients.asked(other);
  expect(clients.isAsking).toBe(false);
});
