import type { StopReason } from './session/disconnect.ts'

type Reason = StopReason | 'never_paired' | 'pairing' | 'reconnecting' | 'number_taken'

/** What to do about each reason for which a session does not send. */
export const sessionReasons: Record<Reason, string> = {
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

export const sessionAdvice: ReadonlyMap<string, string> = new Map([
  ...Object.entries(sessionReasons),
  ...Object.entries(sendCodes),
])
