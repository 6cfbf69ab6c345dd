import type { PlaceName } from './places.ts'
import type { Actor, Facts } from './scene.ts'

/** Something that a stranger has written so that an agent does what its team does not want. */
export interface Injection {
  name: string
  /** Where it stands; `places.ts` has how it gets there. */
  place: PlaceName
  /** Names in angle brackets are filled in with what the attacker has found out: ids, numbers, files. */
  text: string
  /** How it must end. */
  ends: Ending
  /** Why that is no harm of ours. */
  because?: string
  /** Whose key the agent has. Default: one that may answer and write leads, on one connection. */
  as?: Actor
  /** Default: both. */
  faces?: readonly FaceName[]
  /** The code with which what it asks for is refused. */
  code?: string
  /** What no answer may hold. */
  never?: readonly (keyof Facts)[]
}

/**
 * `unseen`: the agent is never shown the order. `words`: it asks for nothing that could be called, and stands as words in
 * the field that is for them. `refused`: the agent obeys, and Parley refuses each call. `own`: the agent obeys, and what
 * it does is within the rights of its key; nobody else is told, sent or changed anything.
 */
export type Ending = 'unseen' | 'words' | 'refused' | 'own'

export type FaceName = 'HTTP' | 'MCP'

export const facesFor = ({ faces = ['HTTP', 'MCP'] }: Injection): readonly FaceName[] => faces

/**
 * Reads a table of them. A line says how one ends, with the code of the refusal, where it stands and what it does; the line below it
 * is its text. More lines may say `because`, `as` whom, `by` which face, and what `never` is to be read.
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
