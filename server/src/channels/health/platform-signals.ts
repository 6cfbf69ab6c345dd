import type { Clock } from '../../base/clock.ts'
import type { Db, Tx } from '../../base/db.ts'
import type { ChannelEvent } from '../channel-event.ts'
import type { ConnectionKey } from '../connection/connection.ts'
import type { RefusalEffect } from '../connector.ts'
import { scheduleTemplateSync } from '../templates/template-schedule.ts'
import { categoryReason, setTemplateCategory, setTemplateQuality, setTemplateReview } from '../templates/templates.ts'
import {
  holdConnection,
  liftHold,
  markAvailable,
  markUnavailable,
  notifyMembers,
  restrictConnection,
} from './availability.ts'
import { setNumberStatusDue, storeNumberFacts } from './refresh-number-status.ts'

/** Platform events about a connection rather than a customer. */
export type ConnectionSignal = Extract<
  ChannelEvent,
  { type: 'templates_changed' | 'connection_state' | 'account_restricted' | 'number_status' }
>

interface SignalDeps {
  db: Db
  clock: Clock
}

/** Applies a platform event about a connection. */
export async function applyPlatformSignal(
  { db, clock }: SignalDeps,
  one: ConnectionKey,
  event: ConnectionSignal,
): Promise<void> {
  const now = clock.now()
  await db.tx(async (tx) => {
    switch (event.type) {
      case 'templates_changed':
        return applyTemplateChange(tx, one, event, now)
      case 'account_restricted':
        return restrictConnection(tx, one, event, now)
      case 'number_status':
        return applyNumberStatus(tx, one, event, now)
      case 'connection_state':
        if (event.available) await markAvailable(tx, one, now)
        else await markUnavailable(tx, one, event.reason, now)
    }
  })
}

async function applyTemplateChange(
  tx: Tx,
  one: ConnectionKey,
  { category, review, quality }: Extract<ChannelEvent, { type: 'templates_changed' }>,
  now: Date,
): Promise<void> {
  if (review !== undefined) await setTemplateReview(tx, one, review)
  if (quality !== undefined) await setTemplateQuality(tx, one, quality)
  // At once: it decides to which endpoint the next send goes. The sync finds nothing to change then.
  if (category !== undefined && (await setTemplateCategory(tx, one, category, now))) {
    await notifyMembers(tx, one, [categoryReason(category)], now)
  }
  await scheduleTemplateSync(tx, one, now)
}

async function applyNumberStatus(
  tx: Tx,
  one: ConnectionKey,
  { facts, isHint }: Extract<ChannelEvent, { type: 'number_status' }>,
  now: Date,
): Promise<void> {
  if (Object.keys(facts).length > 0) await storeNumberFacts(tx, one, facts, now)
  if (!isHint) return
  await setNumberStatusDue(tx, one, now)
  await scheduleTemplateSync(tx, one, now)
}

/** Applies the effect of a refused message: unavailable, charged messages on hold, or templates out of date. */
export async function applyRefusal(
  { db, clock }: SignalDeps,
  one: ConnectionKey,
  effect: RefusalEffect,
  errorCode: string,
): Promise<void> {
  if (effect === 'none') return
  const now = clock.now()
  await db.tx(async (tx) => {
    if (effect === 'templates_stale') await scheduleTemplateSync(tx, one, now)
    else await holdConnection(tx, one, errorCode, now, effect === 'connection_unavailable' ? 'all' : 'billable')
  })
}

/** Ends a hold after the platform accepted the send that tested it. */
export async function applyAcceptance({ db, clock }: SignalDeps, one: ConnectionKey, reason: string): Promise<void> {
  await db.tx((tx) => liftHold(tx, one, reason, clock.now()))
}
