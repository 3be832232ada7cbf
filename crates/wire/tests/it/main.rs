//! The codecs against the corpus, against each other, and against hostile input.

mod corpus;
mod identity;
mod openai_chat_answers;
mod openai_chat_compat;
mod openai_chat_errors;
mod openai_chat_requests;
mod openai_chat_random;
