import type { FastifyRequest } from 'fastify'
import type { TeamDeps, Visitor } from '../users/team-deps.ts'
import { deviceCookie, sessionCookie } from './cookies.ts'

export function visitorOf(deps: TeamDeps, request: FastifyRequest): Visitor {
  return {
    address: deps.addressOf(request.raw),
    device: deviceOf(request.headers['user-agent']),
    sessionToken: sessionCookie(deps.publicUrl).read(request),
    deviceToken: deviceCookie(deps.publicUrl).read(request),
  }
}

// In this order: each family also claims to be those below it.
const browsers: [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const systems: [RegExp, string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** "Firefox on Linux": enough to tell one's own sessions apart, too little to tell people apart. */
export function deviceOf(userAgent: string | undefined): string {
  const browser = familyIn(browsers, userAgent) ?? 'Unknown browser'
  const system = familyIn(systems, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}

function familyIn(families: [RegExp, string][], userAgent = ''): string | undefined {
  return families.find(([shape]) => shape.test(userAgent))?.[1]
}
