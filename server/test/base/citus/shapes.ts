/** Why several servers that share the tables would refuse a statement or be slow with it, or one would do more than it is told to. */
export type Fault =
  | 'locks rows without naming their workspace'
  | 'hides the workspace in a subquery'
  | 'uses a volatile function in an update'
  | 'uses a function of a column and an interval in an update'
  | 'uses more than immutable functions in "do update"'
  | 'recurses without naming a workspace'
  | 'writes without naming a workspace'
  | 'may change more rows than its limit'

const owner = '(?:workspace_id|scope_id)'
const named = new RegExp(`\\b${owner} = \\$\\d`)
const hidden = new RegExp(`\\b${owner} = \\( ?select \\$\\d`)
const namedAtAll = new RegExp(`\\b${owner} (?:=|in\\b)`)
/** A condition that stands elsewhere: what it names is not to be seen. */
const unseen = /\b(?:where|and|on) \(?\$\d+\)?(?! ?(?:[=<>:]|is\b|not\b))/
const lock = /\bfor (?:no key update|update|key share|share)\b/
const volatile = /\b(?:clock_timestamp|random|gen_random_uuid|nextval|timeofday)\(/
const ofInterval = /\b[a-z_]+(?:\.[a-z_]+)? [-+] (?:interval\b|\$\d+::interval\b)/
/** The planner may ask such a table once for each row of the other, and each time the rows that it has locked so far are passed over. */
const limitedLock = /\bfrom \( ?select (?:(?!\) as ).)*\blimit (?:(?!\) as ).)*\bfor (?:no key )?update\b/
const notImmutable =
  /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|random|gen_random_uuid)\(|\( ?select\b/

/**
 * What is wrong with the shape of a statement, by its words alone: what Citus refuses, in the forms that were met. What else it refuses, only
 * the gate finds that asks it. `spread` are the tables that it cuts into pieces.
 */
export function faultsOf(statement: string, spread: ReadonlySet<string>): Fault[] {
  const text = statement
    .replace(/--[^\n]*/g, '')
    .replace(/\s+/g, ' ')
    .toLowerCase()
  if (!tablesOf(text).some((name) => spread.has(name))) return []
  const faults: Fault[] = []
  const writes = writtenBy(text).filter(([, name]) => spread.has(name))
  const updates = writes.some(([verb]) => verb === 'update')
  if (hidden.test(text)) faults.push('hides the workspace in a subquery')
  if (lock.test(text) && !named.test(text) && !unseen.test(text))
    faults.push('locks rows without naming their workspace')
  if (/\bwith recursive\b/.test(text) && !named.test(text)) faults.push('recurses without naming a workspace')
  if (updates && volatile.test(text)) faults.push('uses a volatile function in an update')
  if (updates && ofInterval.test(text)) faults.push('uses a function of a column and an interval in an update')
  if (writes.some(([verb]) => verb === 'insert into') && notImmutable.test(setOfConflict(text))) {
    faults.push('uses more than immutable functions in "do update"')
  }
  if (writes.some(([verb]) => verb !== 'insert into') && !namedAtAll.test(text) && !unseen.test(text)) {
    faults.push('writes without naming a workspace')
  }
  if (updates && limitedLock.test(text)) faults.push('may change more rows than its limit')
  return faults
}

/** What may stand behind these words is a table; names of common table expressions are among them. */
const tablesOf = (text: string) =>
  [...text.matchAll(/\b(?:from|join|into|update) (?:only )?"?([a-z_]+)"?/g)].map(([, name = '']) => name)

/** "for update" and "do update" write no table of their own. */
const writtenBy = (text: string) =>
  [...text.matchAll(/(?<!\bfor |\bfor no key |\bdo )\b(update|insert into|delete from) "?([a-z_]+)"?/g)].map(
    ([, verb = '', name = '']) => [verb, name] as const,
  )

/** What a write sets where the row is there already. */
function setOfConflict(text: string): string {
  const from = text.indexOf('do update set')
  return from < 0 ? '' : text.slice(from).replace(/ returning .*$/, '')
}
