import type { Channel } from '../connection/connection.ts'
import { adviceFor } from '../health/advice.ts'
import type { CheckCode, CheckLine } from './report.ts'

/** What was found, and what to do; null if nothing. `{name}` stands for a value of the line. */
type Words = readonly [found: string, advice: string | null]

const tokenAdvice =
  'In the business settings of the platform, create a token of a system user that never expires, with the permissions whatsapp_business_messaging and whatsapp_business_management, and enter it here.'
const waitAdvice = 'Wait a few minutes, then check again.'

const words: Record<CheckCode, Words> = {
  unreachable: [
    'The platform did not respond ({code}).',
    "Check again in a moment. If this persists, check the platform URL and the network of Parley's server.",
  ],
  rate_limited: ['The platform refused the call because there were too many ({code}).', waitAdvice],
  platform_error: [
    'The platform returned the error {code}.',
    "Look up the code in the platform's list of error codes.",
  ],
  not_checked: ['Not checked: an earlier step must work first.', null],

  token_permanent: ['Valid, and does not expire (app {app}).', null],
  token_valid: ['Valid. The platform does not say until when.', null],
  token_expires: [
    'Valid until {until} (app {app}).',
    'Sending stops then. Replace it in time by a token of a system user that never expires.',
  ],
  token_temporary: [
    'A temporary token: it ends at {until}, within 24 hours of its creation.',
    `Use it only to try things out. ${tokenAdvice}`,
  ],
  token_expired: ['The token has expired.', tokenAdvice],
  token_invalid: ['The platform does not accept the token.', `It was revoked or copied incompletely. ${tokenAdvice}`],
  permissions_granted: ['The token can send messages and manage the account.', null],
  permission_missing: [
    'The token lacks: {permissions}.',
    'Create a new token of the system user with these permissions, and enter it here.',
  ],
  app_secret_matches: ["The secret belongs to the token's app.", null],
  app_secret_wrong: [
    "The secret does not belong to the token's app, so Parley would reject its callbacks.",
    'Copy the secret of the same app from App settings > Basic, and enter it here.',
  ],

  account_found: ['{name}', null],
  account_not_chosen: ['No business account is chosen.', 'Choose the number, or enter the ID of its business account.'],
  account_no_access: [
    'The token cannot access the business account {id}.',
    'Compare the ID with the one on the platform, and assign the account to the system user there.',
  ],
  number_found: ['{phone} {name}', null],
  number_not_chosen: ['No number is chosen.', 'Choose a number of the account.'],
  number_no_access: [
    'The token cannot access the number with the ID {id}.',
    'Compare the phone number ID with the one on the platform, and assign its account to the system user there.',
  ],
  number_other_account: [
    'The number does not belong to the business account of this connection.',
    'Choose the number again, or correct the business account ID.',
  ],
  number_elsewhere: [
    'Another connection of this installation has this number.',
    'Remove it there first, or choose another number.',
  ],
  name_approved: ['{name}', null],
  name_pending: ['{name}: in review.', 'Wait for the review. Until then, the number may send to few customers.'],
  name_none: ['The number has no display name.', 'Request one in the account settings on the platform.'],
  name_declined: ['{name}: declined.', 'Choose another display name in the account settings on the platform.'],
  name_expired: [
    '{name}: the approval has expired.',
    'Register the number again on the platform, or request another display name.',
  ],
  registered: ['The number is registered.', null],
  registered_on_phone: ["The number stays on the phone's app and needs no registration.", null],
  not_registered: [
    'The number is not registered, so it can neither send nor receive.',
    'Register it with a PIN of six digits.',
  ],
  number_unverified: [
    'The platform has not verified that the number is yours.',
    'Verify it by SMS or call in the account settings on the platform, then register it here.',
  ],
  number_flagged: [
    'The platform reports the status {status}.',
    'Check the quality of the number on the platform: it may soon be restricted.',
  ],
  number_restricted: [
    'The platform reports the status {status}.',
    'Check the number on the platform for the reason, and appeal there.',
  ],
  pin_wrong: [
    'The PIN is wrong: the number already has another one for two-step verification.',
    'Enter that PIN. If nobody knows it, turn two-step verification off in the account settings on the platform, then choose a new PIN here.',
  ],
  pin_too_fast: [
    'The platform refused the PIN because of too many attempts.',
    'Wait an hour, then enter the right PIN.',
  ],
  register_wait: [
    'The platform cannot register the number yet.',
    'It was removed a moment ago. Wait five minutes, then try again.',
  ],
  register_too_often: [
    'The number was registered too often: the platform allows ten times in 72 hours.',
    'Wait up to 72 hours, then try again.',
  ],

  key_valid: ['The partner accepts the API key.', null],
  key_unconfirmed: ['The partner does not offer a check of the key.', 'Send a message to see whether it works.'],
  key_invalid: ['The partner rejected the API key ({code}).', 'Create a new one there and change the connection.'],
  linked: ['The phone is linked and online.', null],
  not_linked: ['The phone is not linked or not online.', '{reason}'],
  risk_accepted: ['The risk is accepted until {until}.', null],
  risk_not_accepted: ['Nobody has accepted the risk of this unofficial number.', "Accept it on the connection's page."],

  subscribed: ['Messages to this number are sent to Parley.', null],
  subscribed_override: [
    'Messages to this number are sent to Parley. Events about templates and the account go to {host}, the callback URL of the app.',
    null,
  ],
  not_subscribed: ['No app receives the messages of this account.', 'Let Parley receive them.'],
  other_app: [
    'Another app receives the messages of this account ({app}), but the app of this token does not.',
    'Let Parley receive them too. The other app keeps receiving them.',
  ],
  other_callback: [
    'Messages to this number are sent to another address ({host}).',
    'Let Parley receive them. The other address then gets none of this number.',
  ],
  callback_unknown: [
    'The app receives the messages, but the platform does not say at which address.',
    'Let Parley receive them, or write to the number and see whether the message arrives.',
  ],
  callback_refused: [
    'The platform called the callback URL and did not get the right answer.',
    'Check that the internet reaches PARLEY_URL by https, also through proxies and firewalls, then try again.',
  ],
  callback_answers: ['The callback URL answers as the platform expects.', null],
  callback_public: ['The callback URL is public.', null],
  callback_not_public: [
    'The callback URL is not public ({host}), so the platform cannot call it.',
    'Set PARLEY_URL to a public https address and restart Parley.',
  ],
  callback_not_https: [
    'The callback URL does not begin with https, which the platform requires.',
    'Set PARLEY_URL to a public https address and restart Parley.',
  ],
  callback_too_long: [
    'The callback URL has more than 200 characters, which the platform does not accept.',
    'Set PARLEY_URL to a shorter address and restart Parley.',
  ],
  callback_mismatch: [
    'The callback URL answers, but not like Parley: another program listens there ({code}).',
    'Check PARLEY_URL and the proxy in front of it: its path /channels must lead to Parley.',
  ],
  callback_untested: [
    'Parley could not call its own callback URL ({code}).',
    'This is normal behind some firewalls. If messages do not arrive, check that the internet reaches PARLEY_URL.',
  ],

  not_on_phone: ['Only for numbers that are also used on a phone.', null],
  history_requested: ['Contacts and history were requested. They arrive within hours.', null],
  history_open: ['Contacts and history can be requested until {until}, once.', 'Request them now.'],
  history_passed: [
    'Contacts and history can no longer be requested: 24 hours have passed since the number was connected.',
    'To request them, disconnect the number from the platform in the app on the phone, and connect it again.',
  ],
  history_refused: [
    'The platform refused the request of contacts and history ({code}).',
    'Check the error, then request them again.',
  ],
  sites_allowed: ['The chat can be shown on {sites}.', null],
  no_sites: ['No site may show the chat.', 'Add the address of your site in the settings of this connection.'],
  messages_arrive: ['The platform last sent something at {at}.', null],
  nothing_arrived: ['Nothing has arrived yet.', 'Send a test message, or write to the number from a phone.'],
  can_send: ['Messages can be sent.', null],
  cannot_send: ['Messages cannot be sent ({reason}).', '{advice}'],
  sending_held: ['Some messages are not sent now ({reason}).', '{advice}'],
  sending_paused: ['A member paused this connection.', 'Resume it to send.'],
  in_setup: ['Messages are sent when the steps above work.', null],
}

/** Returns the English words of a line: what was found and what to do. */
export function describeLine({ code, values }: CheckLine, channel: Channel): { found: string; advice: string | null } {
  const known: Record<string, string> = { ...values }
  if (values.reason !== undefined) known.advice = adviceFor(values.reason, channel)
  if (code === 'not_linked') known.reason = known.advice ?? ''
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => known[name] ?? '').trim()
  const [found, advice] = words[code]
  return { found: fill(found), advice: advice === null ? null : fill(advice) }
}
