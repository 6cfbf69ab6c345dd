/** What to do about a code of the platform, or of a partner that passes it on. */
const texts: readonly (readonly [text: string, ...codes: (number | string)[]])[] = [
  [
    'The access token is not valid any more. Make a new one that does not expire and change the connection to it.',
    0,
    190,
  ],
  [
    'The access token lacks a permission. Give its system user `whatsapp_business_messaging` and `whatsapp_business_management`, and make a new token.',
    3,
    10,
    131005,
  ],
  [
    'The platform has a passing fault. Wait, and send again what is important.',
    1,
    2,
    131000,
    131016,
    131057,
    133004,
    1000,
    1011,
    1014,
    1016,
  ],
  [
    'The app or account made too many calls. Wait some minutes; send less at a time if it comes again.',
    4,
    80007,
    130429,
    1015,
    'rate_limited',
  ],
  [
    'The account is blocked for a breach of policy. Read what the platform says of it under account quality, and appeal there. One send now and then finds out whether it is over.',
    368,
    131031,
    'blocked',
    1031,
  ],
  [
    'The platform does not know the number, or the token may not use it. Compare the number id with the one at the platform.',
    33,
  ],
  [
    'The platform takes the request for wrong. Look whether the template and its parameters fit; else tell whoever runs Parley.',
    100,
    131008,
    131009,
    135000,
    137000,
  ],
  [
    'The customer takes part in an experiment of the platform, which holds back marketing messages. Nothing to do.',
    130472,
  ],
  ['The account may not write to people in that country. Nothing to do here.', 130497],
  [
    'The message cannot be delivered: the number is not on WhatsApp, or runs an old version. Reach the customer another way.',
    131026,
    1013,
  ],
  ['The number cannot write to itself.', 131021],
  [
    'The number is in its test phase, and the customer is not on its list. Add them at the platform, or take the number live.',
    131030,
  ],
  [
    'The display name of the number is not approved. Have it approved at the platform; one send now and then finds out by itself.',
    131037,
  ],
  [
    'There is a problem with the payment. Mend it in the billing settings of the platform. Templates that are charged wait until then; messages in the open window go on. The next template after a pause finds out by itself.',
    131042,
    'payment_required',
    1025,
  ],
  [
    'The certificate of the number is not right. Register the number anew at the platform; one send now and then finds out by itself.',
    131045,
  ],
  ['More than 24 hours have passed since the customer wrote. Send an approved template.', 131047, 470],
  [
    'The platform holds messages back for too many that customers blocked or reported. Send less and to people who expect it.',
    131048,
    471,
  ],
  [
    'The platform keeps marketing messages from this customer for now. Wait days rather than hours; do not repeat it.',
    131049,
  ],
  ['The customer has stopped marketing messages from this number. Respect that.', 131050],
  ['The platform does not take this kind of message, or its media. Send a text instead.', 131051, 131052, 131053],
  ['Too many messages to one customer in a short time. Wait a little, then send again.', 131056, 1018],
  ["This kind of message needs the customer's phone, which is hidden. Ask the customer for it.", 131062],
  [
    'The parameters do not fit the template. Read its text and give as many parameters as it has places.',
    132000,
    132012,
  ],
  [
    'The template is not approved under this name and language any more. Choose another one from the list.',
    132001,
    132007,
    132015,
    132016,
    2001,
  ],
  ['A parameter is too long or has line breaks. Shorten it.', 132005, 132018],
  ['The form behind the template is blocked or throttled. Look at it at the platform.', 132068, 132069],
  [
    'The number is not registered. Register it at the platform; one send now and then finds out by itself.',
    133000,
    133010,
    133016,
  ],
  ['Payments in chats are not set up for this number. Send another template.', 134011],
  [
    'The partner does not take the API key. Make a new one there and change the connection to it.',
    'invalid_api_key',
    1005,
  ],
  ['The customer cannot get this message now. Wait until they write.', 472],
]

export const platformAdvice: ReadonlyMap<string, string> = new Map(
  texts.flatMap(([text, ...codes]) => codes.map((code) => [String(code), text] as const)),
)
