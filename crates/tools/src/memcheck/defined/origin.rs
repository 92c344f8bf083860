//! Where undefined values come from.
//!
//! Each thread notes the last thing it loaded that was undefined: the address, and above it the site of the load. That is
//! right unless it goes on with one that it loaded earlier; it costs nothing where nothing is undefined.

use rewrite::SiteId;

/// Stands for the address of local memory, which is another one in each thread.
pub(in super::super) const LOCAL: u64 = 1;

/// A store is noted as its launch and, in so many bits below, its site, counted from 1.
pub(in super::super) const SITE_BITS: u32 = 24;

/// Bits of an address.
const ADDRESS: u32 = 47;

/// The bits of an origin that stand for a site; none if its number is too large.
pub(super) fn of_site(site: SiteId) -> u64 {
    let number = u64::from(site.0) + 1;
    if number < 1 << (64 - ADDRESS) { number << ADDRESS } else { 0 }
}

/// The address and the site of an origin.
pub(in super::super) fn parts(origin: u64) -> (u64, Option<SiteId>) {
    let site = (origin >> ADDRESS).checked_sub(1).map(|number| SiteId(number as u32));
    (origin & ((1 << ADDRESS) - 1), site)
}
