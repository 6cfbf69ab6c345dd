/** What a semicolon does not end: comments, quoted texts and names, and texts between dollars. */
const whole = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|;/g

/** The statements of a script, each without its semicolon. */
export function statementsOf(script: string): string[] {
  const statements: string[] = []
  let from = 0
  for (const { 0: found, index } of script.matchAll(whole)) {
    if (found !== ';') continue
    statements.push(script.slice(from, index))
    from = index + 1
  }
  statements.push(script.slice(from))
  return statements.map((statement) => statement.trim()).filter((statement) => withoutComments(statement) !== '')
}

/** Whether the statement makes a table of its own; a partition belongs to its parent. */
export function makesTable(statement: string): boolean {
  const words = withoutComments(statement)
  return /^create (?:unlogged )?table\b/i.test(words) && !/\bpartition of\b/i.test(words)
}

const withoutComments = (statement: string) => statement.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, '').trim()
