use super::operand::Site;
use crate::code::Inst;
use crate::fault::Refusal;

pub(super) fn decode(_site: &Site<'_, '_>) -> Result<Option<Inst>, Refusal> {
    Ok(None)
}
