import type { Channel } from '../connection/connection.ts'
import type { StopReason } from '../unofficial/session/disconnect.ts'

/** What to do about codes of the platform, or of a partner that passes them on; a text counts for each of its codes. */
const texts: Record<string, string> = {
  '0 190':
    'The access token is not valid any more. Make a new one that does not expire and change the connection to it.',
  '3 10 131005':
    'The access token lacks a permission. Give its system user `whatsapp_business_messaging` and `whatsapp_business_management`, and make a new token.',
  '1 2 131000 131016 131057 133004 1000 1011 1014 1016':
    'The platform has a passing fault. Wait, and send again what is important.',
  '4 80007 130429 1015 rate_limited':
    'The app or account made too many calls. Wait some minutes; send less at a time if it comes again.',
  '368 131031 blocked 1031':
    'The account is blocked for a breach of policy. Read what the platform says of it under account quality, and appeal there. One send now and then finds out whether it is over.',
  33: 'The platform does not know the number, or the token may not use it. Compare the number id with the one at the platform.',
  '100 131008 131009 135000 137000':
    'The platform takes the request for wrong. Look whether the template and its parameters fit; else tell whoever runs Parley.',
  130472:
    'The customer takes part in an experiment of the platform, which holds back marketing messages. Nothing to do.',
  130497: 'The account may not write to people in that country. Nothing to do here.',
  '131026 1013':
    'The message cannot be delivered: the number is not on WhatsApp, or runs an old version. Reach the customer another way.',
  131021: 'The number cannot write to itself.',
  131030:
    'The number is in its test phase, and the customer is not on its list. Add them at the platform, or take the number live.',
  131037:
    'The display name of the number is not approved. Have it approved at the platform; one send now and then finds out by itself.',
  '131042 payment_required 1025':
    'There is a problem with the payment. Mend it in the billing settings of the platform. Templates that are charged wait until then; messages in the open window go on. The next template after a pause finds out by itself.',
  131045:
    'The certificate of the number is not right. Register the number anew at the platform; one send now and then finds out by itself.',
  '131047 470': 'More than 24 hours have passed since the customer wrote. Send an approved template.',
  '131048 471':
    'The platform holds messages back for too many that customers blocked or reported. Send less and to people who expect it.',
  131049:
    'The platform keeps marketing messages from this customer for now. Wait days rather than hours; do not repeat it.',
  131050: 'The customer has stopped marketing messages from this number. Respect that.',
  '131051 131052 131053': 'The platform does not take this kind of message, or its media. Send a text instead.',
  '131056 1018': 'Too many messages to one customer in a short time. Wait a little, then send again.',
  131062: "This kind of message needs the customer's phone, which is hidden. Ask the customer for it.",
  '132000 132012':
    'The parameters do not fit the template. Read its text and give as many parameters as it has places.',
  '132001 132007 132015 132016 2001':
    'The template is not approved under this name and language any more. Choose another one from the list.',
  '132005 132018': 'A parameter is too long or has line breaks. Shorten it.',
  '132068 132069': 'The form behind the template is blocked or throttled. Look at it at the platform.',
  '133000 133010 133016':
    'The number is not registered. Register it at the platform; one send now and then finds out by itself.',
  134011: 'Payments in chats are not set up for this number. Send another template.',
  'invalid_api_key 1005':
    'The partner does not take the API key. Make a new one there and change the connection to it.',
  472: 'The customer cannot get this message now. Wait until they write.',
}

const platformAdvice: ReadonlyMap<string, string> = new Map(
  Object.entries(texts).flatMap(([codes, text]) => codes.split(' ').map((code) => [code, text] as const)),
)

type Reason = StopReason | 'never_paired' | 'pairing' | 'reconnecting' | 'number_taken'

/** What to do about each reason for which a session does not send. */
const sessionReasons: Record<Reason, string> = {
  never_paired: 'No phone is linked yet. Pair one.',
  pairing: 'Scan the code on the phone, under Linked devices. It takes a moment until there is one.',
  reconnecting: 'The line to the network is taken up again by itself. Look at the network of this machine if it lasts.',
  logged_out: 'The phone has unlinked this device. Pair it anew.',
  replaced:
    'Another program uses the same session. Stop it, then resume the connection: two would throw each other out for ever.',
  banned_temporarily:
    'The network has banned the number for some time. The phone says how long; resume after that, and send less.',
  forbidden: 'The network refuses the number. Look on the phone for what it says.',
  banned: 'The network has banned the number. Appeal on the phone, or take another number.',
  client_outdated: 'The network does not take this version any more. Update Parley and Baileys, then resume.',
  bad_user_agent: 'The network does not take this program for one of its own. Update Parley and Baileys, then resume.',
  device_mismatch: 'The account on the phone does not take linked devices. Update the app there, then pair anew.',
  bad_session: 'The keys of the session do not fit any more, as after restoring a backup. Pair the phone anew.',
  pairing_ended: 'Nobody scanned the code in time. Begin again, with the phone at hand.',
  network_unreachable:
    'The network cannot be reached, so there is no code to scan. Look at the network of this machine. It is tried again for some three minutes; then pair again.',
  baileys_missing:
    'Baileys is not installed. It takes one command: see QR sessions in the operations guide. Then resume.',
  number_taken: 'This phone is linked to another connection already. Remove that one, or pair another phone.',
}

const sendCodes: Record<string, string> = {
  463: 'The network lets the number write to nobody new for now. Do not repeat it; answer those who write, and wait some days.',
  479: 'The network took the message for wrong. Update Parley and Baileys if it comes again.',
  session_not_held: 'No process held the session. Look whether a worker runs, then send again.',
  session_not_open: 'The session was not on the line. Look at its page; send again once it is open.',
}

/** What to do about the codes that are ours. */
const ourAdvice: Record<string, string> = {
  paused: 'A member paused the connection. Resume it to send.',
  acknowledgement_required:
    'The risk of an unofficial number is not confirmed, or not for this pairing. A member confirms it in person.',
  unreachable:
    'The platform did not answer when it was asked for the number. It is asked again every 10 minutes; look at the address and the network of this machine if it lasts.',
  number_connected_elsewhere:
    'The platform answers for this number, but another connection of this installation has it. Remove it there, then resume.',
  partner_removed:
    'The account has removed the app. Add it again at the platform; the connection then becomes active by itself.',
  account_offboarded: 'The account has left the platform. Once it is back, the connection becomes active by itself.',
  account_deleted: 'The account was deleted at the platform. Remove the connection.',
  account_disabled:
    'The platform has disabled the account. Appeal there; the connection becomes active by itself once it is reinstated.',
  account_restricted_initiated:
    'The platform keeps the account from beginning conversations: templates outside the open window are not sent. Answers to customers go on. Read what it says under account quality, and appeal there.',
  account_restricted_replies:
    'The platform keeps the account from answering customers. Read what it says under account quality, and appeal there.',
  account_restricted_numbers:
    'The platform keeps the account from adding numbers. Messages go on; read what it says under account quality.',
  account_restricted_other: 'The platform restricts the account. Read what it says under account quality.',
  account_violation:
    'The platform says that the account has broken a policy. Messages go on; read under account quality what it was, since more may follow.',
  webhook_not_registered:
    'The partner did not take the address that it is to call. Resume the connection, which registers it again.',
  public_url_not_reachable:
    'The partner cannot reach the address of Parley. Set PARLEY_URL to one that the internet reaches by https, then resume.',
  outcome_unknown:
    "Nobody knows whether these left: the answer never came. Look on the customer's side before you send again.",
  not_sent: 'These did not leave in time, or came behind one that failed. Send again.',
  owner_changed: 'Somebody took the conversation over before these left. Nothing to do.',
  no_address: 'Neither a phone nor a user id of the customer is known. Wait until they write.',
  channel_not_installed: 'This installation has no way out to that channel.',
  version_ending:
    "The version of the platform's API that the connection uses ends soon or has ended. Choose a newer one in its settings, and look whether all goes on.",
  template_category:
    'The platform has put a template into another category, which may change what it costs and to whom it may be sent. Look at the list of templates.',
  too_many_templates: 'The account has more templates than are read. Delete some at the platform.',
  forbidden_address:
    "The platform's address is not a public one. Change it, or have the operator allow it by PARLEY_ALLOW_CIDRS.",
  invalid_address: "The platform's address cannot be called. Change the connection.",
  upload_not_supported: 'This channel takes no files ahead of their message. Report it: nothing should have tried.',
  file_missing: 'The file of the message is not in the store any more. Attach it again and send.',
  internal: 'The file could not be handed over by a fault of ours; nothing was sent. Send again, and see the log.',
  no_media_id: 'The platform took a file without saying what it calls it. Send again.',
  deadline_passed: 'The platform was too slow to be called in time. Send again.',
}

const network = 'The platform could not be reached, or broke off. Look at the network of this machine if it lasts.'
const networkCodes =
  /^(?:dns|connect|tls|timeout|reset|answer|answer_too_large|invalid_request|e(?:conn|host|net|pipe|timed|addr|not|ai|proto)[a-z]*|http_5\d\d|http_429)$/

const advice = new Map([
  ...Object.entries({ ...sendCodes, ...sessionReasons }),
  ...platformAdvice,
  ...Object.entries(ourAdvice),
])

const others: Record<Channel, string> = {
  waba: "Look the code up in the platform's list of error codes.",
  partner: "Look the code up in the partner's documentation, or ask its support.",
  unofficial: 'The network refused without words that Parley knows. Look at the phone for a notice.',
}

/** What to do next about a reason of a connection or the error code of a message, in plain words. */
export function adviceOn(code: string, channel: Channel): string {
  return knownAdvice(code) ?? others[channel]
}

/** Null for a code that nothing here knows. */
export function knownAdvice(code: string): string | null {
  const bare = code.replace(/^platform_error_/, '').replace(/^(account_violation|template_category)[_ ].*$/, '$1')
  const known = advice.get(bare)
  if (known !== undefined) return known
  if (/^2\d\d$/.test(bare)) return platformAdvice.get('10') ?? null
  if (bare === 'http_402') return platformAdvice.get('payment_required') ?? null
  if (/^http_40[13]$/.test(bare)) return platformAdvice.get('invalid_api_key') ?? null
  return networkCodes.test(bare) ? network : null
}
