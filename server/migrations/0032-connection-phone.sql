-- The number that customers see, in digits, as its platform tells it: what is kept besides is the platform's own id of it.
alter table connections add column phone text;
