/** One state of each strongly connected part that nothing leaves, or every state of it: Tarjan's algorithm without recursion. */
export function finalComponents(next: readonly (readonly number[])[]): number[] {
  const order = new Int32Array(next.length).fill(-1);
  const low = new Int32Array(next.length);
  const component = new Int32Array(next.length).fill(-1);
  const stack: number[] = [];
  const components: number[][] = [];
  let count = 0;
  for (let root = 0; root < next.length; root++) {
    if (order[root] !== -1) continue;
    const path: [id: number, edge: number][] = [[root, 0]];
    while (path.length > 0) {
      const top = path[path.length - 1] as [number, number];
      const [id, edge] = top;
      if (edge === 0) {
        order[id] = low[id] = count++;
        stack.push(id);
      }
      const to = next[id]?.[edge];
      if (to !== undefined) {
        top[1] += 1;
        if (order[to] === -1) path.push([to, 0]);
        else if (component[to] === -1) low[id] = Math.min(low[id] ?? 0, order[to] ?? 0);
        continue;
      }
      path.pop();
      const parent = path.at(-1)?.[0];
      if (parent !== undefined) low[parent] = Math.min(low[parent] ?? 0, low[id] ?? 0);
      if (low[id] !== order[id]) continue;
      const members: number[] = [];
      for (let member = -1; member !== id; ) {
        member = stack.pop() ?? id;
        component[member] = components.length;
        members.push(member);
      }
      components.push(members);
    }
  }
  const isFinal = components.map((members, number) =>
    members.every((id) => (next[id] ?? []).every((to) => component[to] === number)),
  );
  return components.filter((_members, number) => isFinal[number]).flat();
}
