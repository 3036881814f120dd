/** The names of an object's properties that fit, and of those of its class and of the classes that this extends. Calls no getter. */
export function propertyNames(
  of: object,
  fits: (property: PropertyDescriptor) => boolean,
): readonly string[] {
  if (of === Object.prototype) return [];
  const own = Object.entries(Object.getOwnPropertyDescriptors(of));
  const names = own.flatMap(([name, property]) => (fits(property) ? [name] : []));
  return [...names, ...propertyNames(Object.getPrototypeOf(of) ?? Object.prototype, fits)];
}
