/** Why Citus would refuse a statement, execute it slowly, or change more rows than intended. */
export type Fault =
  | 'locks rows without naming their workspace'
  | 'hides the workspace in a subquery'
  | 'uses a volatile function in an update'
  | 'uses a function of a column and an interval in an update'
  | 'uses more than immutable functions in "do update"'
  | 'compares a case with values in a write'
  | 'selects no column in exists'
  | 'changes a shared table by a distributed one'
  | 'recurses without naming a workspace'
  | 'writes without naming a workspace'
  | 'may change more rows than its limit'

const owner = '(?:workspace_id|scope_id)'
const named = new RegExp(`\\b${owner} = \\$\\d`)
const hidden = new RegExp(`\\b${owner} = \\( ?select \\$\\d`)
const namedAtAll = new RegExp(`\\b${owner} (?:=|in\\b)`)
/** An interpolated condition, whose contents are unknown here. */
const unseen = /\b(?:where|and|on) \(?\$\d+\)?(?! ?(?:[=<>:]|is\b|not\b))/
const lock = /\bfor (?:no key update|update|key share|share)\b/
const volatile = /\b(?:clock_timestamp|random|gen_random_uuid|nextval|timeofday)\(/
const ofInterval = /\b[a-z_]+(?:\.[a-z_]+)? [-+] (?:interval\b|\$\d+::interval\b)/
/** The planner may run such a subquery once per outer row, and skips the rows that it has already locked. */
const limitedLock = /\bfrom \( ?select (?:(?!\) as ).)*\blimit (?:(?!\) as ).)*\bfor (?:no key )?update\b/
const notImmutable =
  /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|random|gen_random_uuid)\(|\( ?select\b/

/**
 * Finds the known forms of statements that Citus refuses, by their text. Further ones are only found by tests on a
 * cluster. `spread` are the distributed tables.
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
  // Citus evaluates such a case before it sends the statement.
  if (writes.length > 0 && /\bcase (?!when\b)/.test(text)) faults.push('compares a case with values in a write')
  if (/\bexists ?\( ?select from\b/.test(text)) faults.push('selects no column in exists')
  if (/^ ?update /.test(text) && writes.length === 0) faults.push('changes a shared table by a distributed one')
  if (updates && limitedLock.test(text)) faults.push('may change more rows than its limit')
  return faults
}

/** Returns the names after these keywords: tables and common table expressions. */
const tablesOf = (text: string) =>
  [...text.matchAll(/\b(?:from|join|into|update) (?:only )?"?([a-z_]+)"?/g)].map(([, name = '']) => name)

/** "for update" and "do update" name no table. */
const writtenBy = (text: string) =>
  [...text.matchAll(/(?<!\bfor |\bfor no key |\bdo )\b(update|insert into|delete from) "?([a-z_]+)"?/g)].map(
    ([, verb = '', name = '']) => [verb, name] as const,
  )

/** Returns the `do update` part of an insert. */
function setOfConflict(text: string): string {
  const from = text.indexOf('do update set')
  return from < 0 ? '' : text.slice(from).replace(/ returning .*$/, '')
}
