import type { PlaceName } from './places.ts'
import type { Actor, Facts } from './scene.ts'

/** A text of an attacker that asks an agent for something that the team does not want. */
export interface Injection {
  name: string
  /** Where it is planted; see `places.ts`. */
  place: PlaceName
  /** Names in angle brackets are replaced by ids, numbers and files that the attacker knows. */
  text: string
  /** Expected outcome. */
  ends: Ending
  /** Why the outcome is harmless. */
  because?: string
  /** Key of the agent. Default: can answer and write leads, on one connection. */
  as?: Actor
  /** Interfaces to test. Default: both. */
  faces?: readonly FaceName[]
  /** Code of the expected refusal. */
  code?: string
  /** Text that no response may contain. */
  never?: readonly (keyof Facts)[]
}

/**
 * `unseen`: the agent never sees the order. `words`: the order contains nothing to call, and appears as text in
 * the field for it. `refused`: the agent obeys, and Parley refuses each call. `own`: the agent obeys within the
 * rights of its key; nothing of others is read, sent or changed.
 */
export type Ending = 'unseen' | 'words' | 'refused' | 'own'

export type FaceName = 'HTTP' | 'MCP'

export const facesFor = ({ faces = ['HTTP', 'MCP'] }: Injection): readonly FaceName[] => faces

/**
 * Parses a table of injections. A line has the outcome, the code of the refusal, the place and the name; the next line
 * has the text. More lines can have `because`, `as` (key), `by` (interface) and `never` (forbidden text).
 */
export function injectionsOf(table: string): Injection[] {
  const blocks = table.trim().split(/\n(?! )/)
  return blocks.map((block) => {
    const [head = '', text = '', ...more] = block.split('\n').map((line) => line.trim())
    const [end = '', place, name = ''] = head.split(' | ')
    const [ends, code] = end.split(' ')
    const said = Object.fromEntries(more.map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)]))
    return {
      ...{ name, place, text, ends },
      ...(code && { code }),
      ...(said.because && { because: said.because }),
      ...(said.as && { as: said.as }),
      ...(said.by && { faces: said.by.split(',') }),
      ...(said.never && { never: said.never.split(',') }),
    } as Injection
  })
}
