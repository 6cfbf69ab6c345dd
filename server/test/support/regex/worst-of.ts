import { attacksOn, textOf } from './regex-attacks.ts'
import { walk } from './regex-steps.ts'
import { readRegex } from './regex-tree.ts'

/** The attack under which the steps of an expression grow faster than a text does; nothing when there is none. */
export function worstOf(expression: RegExp): string | undefined {
  const tree = readRegex(expression)
  const found = attacksOn(tree, expression.source).find((attack) => {
    const growth = (length: number) =>
      stepsAt(2 * length) === Infinity ? Infinity : stepsAt(2 * length) / stepsAt(length)
    const stepsAt = (length: number) => walk(tree, textOf(attack, length), expression.global).steps
    // Most texts are cleared by a short look; twice the text takes twice the steps, and four times where it is square.
    return growth(24) > 2.2 && growth(384) > 3
  })
  return found && `${expression}: ${JSON.stringify(found)}`
}
