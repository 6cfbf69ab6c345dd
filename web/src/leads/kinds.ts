export type Priority = 'low' | 'medium' | 'high' | 'urgent'
export type Source = 'website' | 'chat_app' | 'phone' | 'email' | 'referral' | 'social' | 'ads' | 'event' | 'other'
export type Platform = 'meta' | 'google' | 'tiktok' | 'linkedin' | 'chatgpt' | 'x' | 'other'
