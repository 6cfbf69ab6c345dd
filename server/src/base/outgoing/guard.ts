import type { LookupFunction } from 'node:net'
import type { AddressJudge } from './address-judge.ts'
import type { Resolver } from './resolver.ts'
import type { Target } from './target.ts'

/** A refusal of the guard, on the way through the network stack. */
export class GuardError extends Error {
  readonly code: 'forbidden_address' | 'dns' | 'timeout' | 'withheld'

  constructor(code: GuardError['code']) {
    super(code)
    this.code = code
  }
}

/** Why a target cannot be used, as far as it shows without asking for its name; null when it may be. */
export function refusalOf(target: Target, judge: AddressJudge, allowsAny: boolean): string | null {
  const { host, isLiteral, onlyAllowed } = target
  // What a name leads to is judged when it is called.
  if (!isLiteral) return allowsAny ? null : onlyAllowed
  const judgement = judge(host)
  if (judgement === 'allowed') return null
  if (judgement === 'public') return onlyAllowed
  return `names the address ${host}, which is ${judgement.refused}; an operator may allow it with PARLEY_ALLOW_CIDRS`
}

/** Whether a connection that is open leads where the guard wants it. */
export function mayTalkTo(address: string | undefined, target: Target, judge: AddressJudge): boolean {
  const judgement = judge(address ?? '')
  return judgement === 'allowed' || (judgement === 'public' && target.onlyAllowed === null)
}

/**
 * Gives the socket nothing but checked addresses, so that what was checked is what is connected to. One bad address among
 * many refuses them all: which one is taken would be for chance to say.
 */
export function guardedLookup(resolve: Resolver, judge: AddressJudge, target: Target): LookupFunction {
  return (host, options, done) => {
    resolve(host).then(
      (addresses) => {
        if (addresses.length === 0) return done(new GuardError('dns'), [])
        if (!addresses.every((address) => mayTalkTo(address, target, judge))) {
          return done(new GuardError('forbidden_address'), [])
        }
        const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
        const [first] = found
        if (options.all || first === undefined) done(null, found)
        else done(null, first.address, first.family)
      },
      () => done(new GuardError('dns'), []),
    )
  }
}
