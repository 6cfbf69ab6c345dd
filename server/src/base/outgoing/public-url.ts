import { createAddressJudge } from './address-judge.ts'
import { refusalOfLiteral } from './guard.ts'
import { readTarget } from './target.ts'

const publicOnly = createAddressJudge([])

/** Whether an address is one of the internet, by https, as far as it shows without asking for what its name leads to. */
export function isPublicUrl(url: string): boolean {
  const target = readTarget(url)
  return !('refused' in target) && target.onlyAllowed === null && refusalOfLiteral(target, publicOnly) === null
}
