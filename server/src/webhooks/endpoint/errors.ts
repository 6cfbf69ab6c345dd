import { conflict, notFound } from '../../base/errors.ts'

export const maxEndpoints = 100

export const endpointNotFound = () => notFound('Webhook endpoint not found')
export const eventNotFound = () => notFound('No such event is kept for this endpoint; events are kept for 30 days')
export const deliveryNotFound = () =>
  notFound('This endpoint was sent no such event in the last 30 days; resend it to send it now')

export const tooManyEndpoints = () =>
  conflict(`A workspace has at most ${maxEndpoints} webhook endpoints: delete one that is no longer used`)

export const tooManyReplays = (most: number) =>
  conflict(`${most} replays are open already: wait until one of them has finished`)

export const endpointDisabled = () =>
  conflict('The endpoint is disabled and is sent nothing: enable it first', { field: 'state' })

export const alreadyActive = () =>
  conflict('The endpoint is active already: send a range of time again by a replay instead', { field: 'sendSince' })
