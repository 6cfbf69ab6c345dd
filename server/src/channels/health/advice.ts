import type { Channel } from '../connection/connection.ts'
import type { StopReason } from '../unofficial/session/disconnect.ts'

/** Advice on error codes of the platform, also when a partner passes them on. A key lists all codes of its text. */
const platformTexts: Record<string, string> = {
  '0 190': 'The access token is no longer valid. Create one that does not expire and update the connection.',
  '3 10 131005':
    'The access token lacks a permission. Grant its system user `whatsapp_business_messaging` and `whatsapp_business_management`, then create a new token.',
  '1 2 131000 131016 131057 133004 1000 1011 1014 1016':
    'The platform has a temporary error. Wait, then resend important messages.',
  '4 80007 130429 1015 rate_limited':
    'The app or account exceeded the rate limit. Wait a few minutes; if this happens again, send fewer messages at a time.',
  '368 131031 blocked 1031':
    'The account is blocked for a policy violation. Check account quality on the platform for details and appeal there. Parley occasionally tries one send to check whether the block has ended.',
  33: 'The platform does not know the number, or the token has no access to it. Compare the phone number ID with the one on the platform.',
  '100 131008 131009 135000 137000':
    'The platform rejected the request as invalid. Check that the template and its parameters match; otherwise contact the operator of this installation.',
  130472: 'The customer is part of a platform experiment that holds back marketing messages. No action is needed.',
  130497: 'The account is not allowed to message people in that country. No action is possible here.',
  '131026 1013':
    'The message cannot be delivered: the number is not on WhatsApp or uses an old version. Contact the customer another way.',
  131021: 'The number cannot message itself.',
  131030:
    'The number is in test mode and the customer is not on its list of recipients. Add the customer on the platform, or move the number to production.',
  131037:
    "The number's display name is not approved. Get it approved on the platform. Parley occasionally tries one send to check.",
  '131042 payment_required 1025':
    "There is a payment problem. Fix it in the platform's billing settings. Until then, templates that the platform charges for are on hold; messages in the open window are still sent. After a pause, Parley sends the next template to check whether the problem is fixed.",
  131045:
    "The number's certificate is invalid. Register the number again on the platform. Parley occasionally tries one send to check.",
  '131047 470': 'More than 24 hours have passed since the customer last wrote. Send an approved template.',
  '131048 471':
    'The platform is holding back messages because too many customers blocked or reported the number. Send fewer messages, and only to people who expect them.',
  131049:
    'The platform is holding back marketing messages to this customer. Wait days rather than hours; do not retry.',
  131050: 'The customer opted out of marketing messages from this number. Do not send any.',
  '131051 131052 131053': 'The platform does not accept this type of message or its media. Send a text instead.',
  '131056 1018': 'Too many messages to one customer in a short time. Wait a moment, then send again.',
  131062: "This type of message needs the customer's phone number, which is hidden. Ask the customer for it.",
  '132000 132012': 'The parameters do not match the template. Send one value for each of its placeholders.',
  '132001 132007 132015 132016 2001':
    'The template is no longer approved under this name and language. Choose another one from the list.',
  '132005 132018': 'A parameter is too long or contains line breaks. Shorten it.',
  '132068 132069': "The template's form is blocked or throttled. Check it on the platform.",
  '133000 133010 133016':
    'The number is not registered. Register it on the platform. Parley occasionally tries one send to check.',
  134011: 'Payments in chats are not set up for this number. Send another template.',
  'invalid_api_key 1005': 'The partner rejected the API key. Create a new one there and update the connection.',
  472: 'The customer cannot receive this message now. Wait until the customer writes.',
}

const platformAdvice: ReadonlyMap<string, string> = new Map(
  Object.entries(platformTexts).flatMap(([codes, text]) => codes.split(' ').map((code) => [code, text] as const)),
)

type Reason = StopReason | 'never_paired' | 'pairing' | 'reconnecting' | 'number_taken'

/** Advice on each reason why a session does not send. */
const sessionAdvice: Record<Reason, string> = {
  never_paired: 'No phone is linked yet. Pair one.',
  pairing: 'Scan the code with the phone, under Linked devices. The code takes a moment to appear.',
  reconnecting: "Parley reconnects automatically. If this persists, check the network of Parley's server.",
  logged_out: 'The phone unlinked this device. Pair it again.',
  replaced:
    'Another program is using the same session. Stop it, then resume the connection: two programs keep disconnecting each other.',
  banned_temporarily:
    'WhatsApp temporarily banned the number. The phone shows for how long. Resume after that, and send fewer messages.',
  forbidden: 'WhatsApp rejected the number. Check the phone for details.',
  banned: 'WhatsApp banned the number. Appeal on the phone, or use another number.',
  client_outdated: 'WhatsApp no longer accepts this client version. Update Parley and Baileys, then resume.',
  bad_user_agent: 'WhatsApp rejected this client. Update Parley and Baileys, then resume.',
  device_mismatch:
    'The account on the phone does not accept linked devices. Update WhatsApp on the phone, then pair it again.',
  bad_session: 'The session keys are no longer valid, for example after a backup was restored. Pair the phone again.',
  pairing_ended: 'The code was not scanned in time. Have the phone with you and start again.',
  network_unreachable:
    "WhatsApp is unreachable, so there is no code to scan. Check the network of Parley's server. Parley retries for about three minutes; after that, pair the phone again.",
  baileys_missing:
    'Baileys is not installed. Install it with one command (see QR sessions in the operations guide), then resume.',
  number_taken: 'This phone is already linked to another connection. Remove that connection, or pair another phone.',
}

const sessionSendAdvice: Record<string, string> = {
  463: 'WhatsApp currently does not let the number message new people. Do not retry; reply to those who write, and wait a few days.',
  479: 'WhatsApp rejected the message as invalid. If this happens again, update Parley and Baileys.',
  session_not_held: 'No worker was running the session. Check that a worker is running, then send again.',
  session_not_open: 'The session was not connected. Check its page; send again once it is open.',
}

/** Advice on Parley's own codes. */
const parleyAdvice: Record<string, string> = {
  paused: 'A member paused this connection. Resume it to send.',
  setup: 'This number is not connected yet. Finish the steps on its page; nothing is sent until they all work.',
  acknowledgement_required:
    'The risk of this unofficial number has not been accepted, or the acceptance is no longer valid. A member must accept it in the app.',
  unreachable:
    "The platform did not respond when Parley checked the number. Parley checks again every 10 minutes. If this persists, check the platform URL and the network of Parley's server.",
  number_connected_elsewhere:
    'The platform confirms this number, but another connection in this installation uses it. Remove it there, then resume.',
  partner_removed:
    'The account removed the app. Add it again on the platform; the connection then becomes active automatically.',
  account_offboarded: 'The account left the platform. When it returns, the connection becomes active automatically.',
  account_deleted: 'The account was deleted on the platform. Remove the connection.',
  account_disabled:
    'The platform disabled the account. Appeal there; once reinstated, the connection becomes active automatically.',
  account_restricted_initiated:
    'The platform does not let the account start conversations: templates outside the open window are not sent. Replies to customers still work. Check account quality on the platform and appeal there.',
  account_restricted_replies:
    'The platform does not let the account reply to customers. Check account quality on the platform and appeal there.',
  account_restricted_numbers:
    'The platform does not let the account add numbers. Messages still work. Check account quality on the platform.',
  account_restricted_other: 'The platform restricted the account. Check account quality on the platform.',
  account_violation:
    'The platform reports that the account violated a policy. Messages still work. Check account quality on the platform for details; more restrictions may follow.',
  webhook_not_registered: 'The partner rejected the webhook URL. Resume the connection to register it again.',
  public_url_not_reachable: 'The partner cannot reach Parley. Set PARLEY_URL to a public HTTPS URL, then resume.',
  outcome_unknown:
    'These may or may not have been sent: the platform did not respond. Check with the customer before you send again.',
  not_sent: 'These were not sent in time, or came after a message that failed. Send them again.',
  owner_changed: 'Someone took over the conversation before these were sent. No action is needed.',
  no_address: "Neither the customer's phone nor user ID is known. Wait until the customer writes.",
  visitor_gone: "The visitor's chat was deleted, so the message reached nobody. Contact them another way.",
  unsupported: 'The chat on the website cannot show a message of this kind. Send a text instead.',
  not_stored:
    'The message may not be in the chat: the database did not respond. Check with the visitor before you send again.',
  channel_not_installed: 'This installation cannot send over this channel.',
  sending_blocked:
    'The platform does not let this number send now. The number status shows its reasons; solve them on the platform.',
  sending_limited:
    'The platform limits what this number can send. The number status shows its reasons; solve them on the platform.',
  quality_yellow:
    'Several customers blocked or reported this number. Send templates only to people who expect them, and fewer of them.',
  quality_red:
    'Many customers blocked or reported this number. Stop sending templates to people who do not expect them, or the platform will lower the limit or block the number.',
  name_declined: 'The platform declined the display name. Choose another one in the account settings on the platform.',
  name_expired:
    'The approval of the display name has expired. Register the number again on the platform, or request another name.',
  messaging_limit_lowered:
    'The platform lowered the number of customers to whom you can send templates in 24 hours. Check the quality of your numbers, and spread large sends over several days.',
  throughput_lowered:
    'The platform lowered how many messages the number can send per second. Large sends take longer; no action is needed.',
  new_chats_warning:
    'The number has nearly used up the new chats that WhatsApp allows it. Reply to those who write, and start fewer chats.',
  new_chats_capped:
    'The number has used up the new chats that WhatsApp allows it. Replies still work; new chats work again when counting restarts.',
  new_chats_locked:
    'WhatsApp currently does not let the number write to new people. Replies still work. Do not retry; wait until the lock ends.',
  version_ending:
    "The platform API version that this connection uses expires soon or has expired. Choose a newer one in the connection's settings, then check that messages still work.",
  template_category:
    'The platform changed the category of a template. This may change what it costs and who may receive it. Check the list of templates.',
  too_many_templates: 'The account has more templates than Parley reads. Delete some on the platform.',
  forbidden_address:
    'The platform URL is not public. Change it, or have the operator allow it with PARLEY_ALLOW_CIDRS.',
  invalid_address: 'The platform URL is invalid. Change the connection.',
  upload_not_supported:
    'This channel does not support uploading files before the message is sent. This should not happen; please report it.',
  file_missing: "The message's file is no longer in storage. Attach it again and send.",
  internal:
    'The file could not be uploaded because of an error in Parley; nothing was sent. Send again, and check the log.',
  no_media_id: 'The platform accepted a file but returned no media ID. Send again.',
  deadline_passed: 'The platform could not be called in time. Send again.',
}

const network =
  "The platform could not be reached, or the connection broke. If this persists, check the network of Parley's server."
const networkCodes =
  /^(?:dns|connect|tls|timeout|reset|answer|answer_too_large|invalid_request|e(?:conn|host|net|pipe|timed|addr|not|ai|proto)[a-z]*|http_5\d\d|http_429)$/

const advice = new Map([
  ...Object.entries({ ...sessionSendAdvice, ...sessionAdvice }),
  ...platformAdvice,
  ...Object.entries(parleyAdvice),
])

const fallbacks: Record<Channel, string> = {
  waba: "Look up the code in the platform's list of error codes.",
  partner: "Look up the code in the partner's documentation, or contact its support.",
  unofficial: 'WhatsApp rejected the message with an unknown code. Check the phone for a notice.',
  website: 'The message could not be added to the chat. Send it again, and check the log.',
}

/** Returns advice on a connection's reason or a message's error code. */
export function adviceFor(code: string, channel: Channel): string {
  return findAdvice(code) ?? fallbacks[channel]
}

/** Returns null for an unknown code. */
export function findAdvice(code: string): string | null {
  const bare = code.replace(/^platform_error_/, '').replace(/^(account_violation|template_category)[_ ].*$/, '$1')
  const known = advice.get(bare)
  if (known !== undefined) return known
  if (/^2\d\d$/.test(bare)) return platformAdvice.get('10') ?? null
  if (bare === 'http_402') return platformAdvice.get('payment_required') ?? null
  if (/^http_40[13]$/.test(bare)) return platformAdvice.get('invalid_api_key') ?? null
  return networkCodes.test(bare) ? network : null
}
