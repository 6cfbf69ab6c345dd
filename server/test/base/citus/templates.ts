export interface WrittenStatement {
  line: number
  /** With a number for each value, and interpolated fragments inlined. */
  text: string
}

/** Returns the SQL templates of a source; fragments are inlined where they are used. */
export function statementsIn(source: string): WrittenStatement[] {
  const found: WrittenStatement[] = []
  let line = 1
  let counted = 0
  for (const { from, text } of templatesIn(source, 0, source.length)) {
    for (; counted < from; counted++) if (source[counted] === '\n') line++
    if (/^\s*(?:--[^\n]*\s*)*(?:select|insert|update|delete|with)\b/.test(text)) found.push({ line, text })
  }
  return found
}

interface Template {
  from: number
  /** Position after its last character. */
  to: number
  text: string
}

/** Matches text that is not a template but may look like one. */
const other = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y
/** Matches the text before a regular expression literal. */
const pattern = /(?<=[(,=:[!&|?{};\n]\s*|return )\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y

function templatesIn(source: string, from: number, to: number): Template[] {
  const found: Template[] = []
  for (let at = from; at < to; ) {
    const skipped = skip(source, at)
    if (skipped > at) at = skipped
    else if (source[at] === '`') {
      const template = readTemplate(source, at)
      found.push(template)
      at = template.to
    } else at++
  }
  return found
}

function skip(source: string, at: number): number {
  for (const what of [other, pattern]) {
    what.lastIndex = at
    if (what.test(source)) return what.lastIndex
  }
  return at
}

function readTemplate(source: string, from: number): Template {
  let text = ''
  let at = from + 1
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') {
      text += source.slice(at, at + 2)
      at += 2
    } else if (source.startsWith('${', at)) {
      const end = endOfHole(source, at + 2)
      const pieces = templatesIn(source, at + 2, end)
      text += pieces.length > 0 ? pieces.map((piece) => piece.text).join(' ') : '$1'
      at = end + 1
    } else text += source[at++]
  }
  return { from, to: at + 1, text }
}

/** Returns the position of the brace that ends an interpolation. */
function endOfHole(source: string, from: number): number {
  let depth = 0
  for (let at = from; at < source.length; ) {
    const skipped = skip(source, at)
    if (skipped > at) {
      at = skipped
      continue
    }
    const char = source[at]
    if (char === '`') at = readTemplate(source, at).to
    else if (char === '}' && depth === 0) return at
    else {
      if (char === '{') depth++
      if (char === '}') depth--
      at++
    }
  }
  return source.length
}
