/** Returns this field of each in the list, or a list of these fields. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and fail where one is wrong
export const pick = (list: Iterable<any> | undefined, ...[name = '', ...more]: string[]): any[] =>
  [...(list ?? [])].map((one) => (more.length === 0 ? one[name] : [name, ...more].map((each) => one[each])))
