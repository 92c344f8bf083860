//! What a program asks of tools on the host: `include/warpgrind/requests.h`.

use std::ffi::c_void;

use toolkit::HostEvent;
use toolkit::objects::permissions;

use super::nvtx::with_tools;
use crate::api::context::settle_all;

/// Does what is asked; 1 if a tool is at work, whatever comes of it, and else 0.
///
/// # Safety
/// `pointer` may be anything: it is looked up.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn warpgrind_request(what: u32, pointer: *const c_void, bytes: usize) -> u32 {
    let (start, bytes, settle) = (pointer as u64, bytes as u64, settle_all);
    let event = match what {
        0 => None,
        1 => Some(HostEvent::MarkedDefined { start, bytes, settle }),
        2 => Some(HostEvent::MarkedUndefined { start, bytes, settle }),
        3 => Some(HostEvent::Permissions { start, given: 0, settle }),
        4 => Some(HostEvent::Permissions { start, given: permissions::ALL, settle }),
        5 => Some(HostEvent::BenignRace { start, bytes }),
        _ => {
            crate::log::say(&format!("request {what} is not known: the program has a newer warpgrind/requests.h"));
            None
        }
    };
    let mut is_at_work = 0;
    with_tools(|tool_host| {
        is_at_work = 1;
        if let Some(event) = &event {
            tool_host.on_event(event);
        }
    });
    is_at_work
}
